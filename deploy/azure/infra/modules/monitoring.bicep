// Logs and metrics. Only identities with a role may send: there is no key that would do.
@description('Begins the names.')
param name string

@description('Region.')
param location string

@description('Principal that sends telemetry.')
param publisherId string

@description('Tags.')
param tags object

var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: '${name}-logs'
  location: location
  tags: tags
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: 30
    // A loop that logs must not cost more than the migration.
    workspaceCapping: {
      dailyQuotaGb: 1
    }
    features: {
      disableLocalAuth: true
    }
  }
}

// Ingestion stays on Azure's public address: a private one needs a Private Link Scope, which a whole network shares.
resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: '${name}-insights'
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true
  }
}

resource publishing 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(insights.id, publisherId, metricsPublisher)
  scope: insights
  properties: {
    principalId: publisherId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', metricsPublisher)
  }
}

@description('Resource id of the workspace.')
output workspaceId string = workspace.id

@description('Name of the Application Insights resource.')
output insightsName string = insights.name
