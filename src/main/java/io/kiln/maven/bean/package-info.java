// SPDX-License-Identifier: Apache-2.0
/** Elements of the plugin configuration. */
package io.kiln.maven.bean;
