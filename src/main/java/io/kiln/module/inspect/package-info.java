// SPDX-License-Identifier: Apache-2.0
/** Inspectors: text about artifacts for people. Those of a dependency of the plugin are found as Java services. */
package io.kiln.module.inspect;
