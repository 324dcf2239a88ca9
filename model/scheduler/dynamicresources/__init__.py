"""The plugin DynamicResources and what it knows of claims (framework/plugins/dynamicresources, util/assumecache)."""
