"""The nodes of which something was read that they say themselves: their files, or what their agents publish."""

from lockgate.diagnosis.views.published import Published
from lockgate.model.facts import Missing, NodeFolders


def read_nodes(node_files: NodeFolders | Missing, published: Published) -> frozenset[str]:
    """Their names."""
    files = () if isinstance(node_files, Missing) else node_files
    return frozenset((*(each.node for each in files), *published))
