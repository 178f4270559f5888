// SPDX-License-Identifier: Apache-2.0
/** Removes transposes: they are moved behind the operators that can do without them, until they meet and cancel. */
package io.kiln.transform.layout;
