"""The distributed store: Tables, Queues and Blobs of one storage account, or Azurite on this machine."""
