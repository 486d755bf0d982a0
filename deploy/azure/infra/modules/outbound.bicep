// One fixed public address for what leaves the network.
@description('Name of the gateway.')
param name string

@description('Region.')
param location string

@description('Tags.')
param tags object

resource publicAddress 'Microsoft.Network/publicIPAddresses@2024-07-01' = {
  name: '${name}-ip'
  location: location
  tags: tags
  sku: {
    name: 'Standard'
  }
  properties: {
    publicIPAllocationMethod: 'Static'
  }
}

resource gateway 'Microsoft.Network/natGateways@2024-07-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: 'Standard'
  }
  properties: {
    // A long read of a portal must not be cut off while it thinks.
    idleTimeoutInMinutes: 10
    publicIpAddresses: [
      {
        id: publicAddress.id
      }
    ]
  }
}

@description('Resource id of the gateway.')
output natGatewayId string = gateway.id

@description('The address that portals see.')
output address string = publicAddress.properties.ipAddress
