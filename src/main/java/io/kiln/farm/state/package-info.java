// SPDX-License-Identifier: Apache-2.0
/** The state of a farm: what workers say of themselves, what waits, what failed; as values, text and a page. */
package io.kiln.farm.state;
