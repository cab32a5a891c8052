"""Changes that go over the nodes one after the other. Pure: what is seen goes in, the next steps come out.

Nothing is remembered between two looks: the cluster says which pods are of an older revision, which node is being
changed and which is verified. So a restart or another leader goes on where the last one stopped, and changes no node
twice.
"""
