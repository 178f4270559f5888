// SPDX-License-Identifier: Apache-2.0
/** Common to all model formats; each format has its own package below. */
package io.kiln.frontend;
