"""Node discovery: labels a node with its NVIDIA PCI devices, kernel and operating system, in NFD's spelling."""
