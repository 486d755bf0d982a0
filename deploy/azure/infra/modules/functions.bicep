// The function app. It scales to nothing when there is no work.
@description('Name of the app, part of its address.')
@minLength(2)
@maxLength(60)
param name string

@description('Region.')
param location string

@description('Subnet through which it calls.')
param subnetId string

@description('Who may call it and publish to it from outside the network; empty: nobody.')
param allowedIpRanges array

@description('Resource id of its identity.')
param identityId string

@description('Client id of its identity.')
param identityClientId string

@description('Storage account of the store and of the host.')
param accountName string

@description('Where its package lies.')
param deploymentContainerUrl string

@description('Where the queues of that account are.')
param queueUrl string

@description('Address of the key vault.')
param vaultUri string

@description('Names of the vault secrets with the webhooks of further people.')
param moreWebhookSecrets array

@description('Name of the Application Insights resource.')
param insightsName string

@description('Further settings by variable.')
param settings object

@description('Version of Python.')
param pythonVersion string

@description('Memory of one instance.')
param instanceMemoryMB int

@description('Upper bound of instances.')
param maximumInstanceCount int

@description('Tags.')
param tags object

var storeUrl = 'azure://${accountName}'

var host = {
  AzureWebJobsStorage__accountName: accountName
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: identityClientId
  // The connection that the triggers name.
  Storage__queueServiceUri: queueUrl
  Storage__credential: 'managedidentity'
  Storage__clientId: identityClientId
  // Says where telemetry goes and lets nobody in: sending needs the role.
  APPLICATIONINSIGHTS_CONNECTION_STRING: insights.properties.ConnectionString
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
  AZURE_CLIENT_ID: identityClientId
  // As many jobs as host.json hands to one instance at a time.
  PYTHON_THREADPOOL_THREAD_COUNT: '12'
  // The dashboard stands at the root.
  AzureWebJobsDisableHomepage: 'true'
}

// The program itself fetches `keyvault:NAME` when it starts, so that no secret stands in the settings.
var program = {
  B24MIGRATE_KEY_VAULT: vaultUri
  B24MIGRATE_STORE__URL: storeUrl
  B24MIGRATE_SOURCE__WEBHOOK: 'keyvault:source-webhook'
  B24MIGRATE_TARGET__WEBHOOK: 'keyvault:target-webhook'
  B24MIGRATE_DASHBOARD_TOKEN: 'keyvault:dashboard-token'
}

var more = empty(moreWebhookSecrets) ? {} : {
  B24MIGRATE_SOURCE__MORE_WEBHOOKS: join(map(moreWebhookSecrets, secret => 'keyvault:${secret}'), ',')
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: insightsName
}

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: '${name}-plan'
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
  }
}

resource app 'Microsoft.Web/sites@2024-11-01' = {
  name: name
  location: location
  tags: tags
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    virtualNetworkSubnetId: subnetId
    publicNetworkAccess: empty(allowedIpRanges) ? 'Disabled' : 'Enabled'
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: deploymentContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: {
        name: 'python'
        version: pythonVersion
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      ftpsState: 'Disabled'
      ipSecurityRestrictionsDefaultAction: 'Deny'
      scmIpSecurityRestrictionsUseMain: true
      ipSecurityRestrictions: [
        for (address, index) in allowedIpRanges: {
          name: 'allowed-${index}'
          action: 'Allow'
          priority: 100 + index
          ipAddress: contains(address, '/') ? address : '${address}/32'
        }
      ]
    }
  }
}

resource appSettings 'Microsoft.Web/sites/config@2024-11-01' = {
  parent: app
  name: 'appsettings'
  properties: union(settings, host, program, more)
}

// Publishing takes a person's or a pipeline's Entra identity, never a password.
resource passwords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01' = [
  for door in ['ftp', 'scm']: {
    parent: app
    name: door
    properties: {
      allow: false
    }
  }
]

@description('Resource id.')
output id string = app.id

@description('Name.')
output name string = app.name

@description('Address.')
output url string = 'https://${app.properties.defaultHostName}'

@description('Address of the store.')
output storeUrl string = storeUrl
