// Who the program is on Azure. It may do what the role assignments of the other modules say, and nothing else.
@description('Name of the identity.')
param name string

@description('Region.')
param location string

@description('Tags.')
param tags object

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Resource id.')
output id string = identity.id

@description('The id that role assignments name.')
output principalId string = identity.properties.principalId

@description('The id by which the program asks for tokens.')
output clientId string = identity.properties.clientId
