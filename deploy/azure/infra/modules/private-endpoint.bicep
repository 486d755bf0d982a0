// A private address of one service, and the name under which the network finds it.
@description('Name of the endpoint.')
param name string

@description('Region.')
param location string

@description('Resource id of what is reached.')
param targetId string

@description('Which of its services: blob, queue, table, vault, sites.')
param service string

@description('Private DNS zone of that service.')
param zoneName string

@description('Network that shall resolve the name.')
param networkId string

@description('Subnet that the address is taken from.')
param subnetId string

@description('Tags.')
param tags object

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = {
  name: zoneName
  location: 'global'
  tags: tags
}

resource zoneLink 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = {
  parent: zone
  name: '${name}-link'
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: {
      id: networkId
    }
  }
}

resource endpoint 'Microsoft.Network/privateEndpoints@2024-07-01' = {
  name: '${name}-endpoint'
  location: location
  tags: tags
  properties: {
    subnet: {
      id: subnetId
    }
    privateLinkServiceConnections: [
      {
        name: service
        properties: {
          privateLinkServiceId: targetId
          groupIds: [service]
        }
      }
    ]
  }
}

resource zoneGroup 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: service
        properties: {
          privateDnsZoneId: zone.id
        }
      }
    ]
  }
  dependsOn: [
    zoneLink
  ]
}
