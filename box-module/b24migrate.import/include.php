<?php

use Bitrix\Main\Loader;

defined('B_PROLOG_INCLUDED') || exit;

// Said here so that it does not depend on how this version of the kernel spells paths of classes.
Loader::registerNamespace('B24migrate\\Import', __DIR__ . '/lib');
