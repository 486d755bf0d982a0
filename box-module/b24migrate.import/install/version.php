<?php

$arModuleVersion = ['VERSION' => '1.0.0', 'VERSION_DATE' => '2026-11-15 00:00:00'];
