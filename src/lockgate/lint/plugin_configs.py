"""Configurations of the device plugin inside of ConfigMaps, with the lines that they have in the manifest."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lockgate.lint.manifests import Document, Manifests
from lockgate.lint.rule import Mark
from lockgate.lint.yaml_items import Item, YamlError, documents


@dataclass(frozen=True, slots=True, eq=False)
class PluginConfig:
    """One configuration: `key` is its key in the ConfigMap, `before` how many lines of the manifest precede it."""

    document: Document
    key: str
    item: Item
    before: int | None
    place: Item

    def mark(self, item: Item, note: str) -> Mark:
        """The line of a value: its own in a block of lines, else that of the whole text."""
        if self.before is None:
            return self.document.mark(self.place, note)
        return replace(self.document.mark(item, note), line=self.before + item.line)


def plugin_configs(manifests: Manifests) -> Iterator[PluginConfig]:
    """Every text of a ConfigMap that reads as a configuration of NVIDIA's device plugin."""
    for document in manifests.of_kind("ConfigMap"):
        data = document.item.get("data")
        for key, place in data.pairs() if data else ():
            item = _read(place)
            if item is not None:
                text = manifests.texts[document.file]
                is_block = text[place.span.start : place.span.start + 1] == "|"
                yield PluginConfig(document, key, item, place.span.line if is_block else None, place)


def _read(place: Item) -> Item | None:
    if not isinstance(place.value, str) or "version" not in place.value:
        return None
    try:
        found = documents(place.value)
    except YamlError:
        return None
    is_config = len(found) == 1 and found[0].text("version") == "v1"
    return found[0] if is_config and (found[0].get("sharing") or found[0].get("flags")) else None
