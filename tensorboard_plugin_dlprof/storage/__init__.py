"""Log directories in the cloud, by fsspec, which TensorBoard uses for them too: lists, fetches and puts whole objects.

Credentials are those that the provider's own library finds (``AWS_*``, ``~/.aws``, Google's application default); none
is read, stored or shown here. Only the storage that an address names is called.
"""
