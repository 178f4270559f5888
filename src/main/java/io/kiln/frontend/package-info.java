// SPDX-License-Identifier: Apache-2.0
/** Classes that the readers of all model formats share; each format has its own package below. */
package io.kiln.frontend;
