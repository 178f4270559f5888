// SPDX-License-Identifier: Apache-2.0
/** Passes from the graph IR to the graph IR, one class each. */
package io.kiln.transform;
