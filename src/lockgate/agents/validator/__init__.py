"""The validator: proves one after the other that driver, container toolkit, CUDA and device plugin work on a node."""
