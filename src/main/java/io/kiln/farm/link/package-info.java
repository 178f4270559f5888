// SPDX-License-Identifier: Apache-2.0
/** Connections to a farm's broker. Beside the broker's own package, the only one that knows the messaging engine. */
package io.kiln.farm.link;
