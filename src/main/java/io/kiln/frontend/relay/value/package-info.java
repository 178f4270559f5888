// SPDX-License-Identifier: Apache-2.0
/** Values that rules read from a call: attributes, constants, layouts. */
package io.kiln.frontend.relay.value;
