// SPDX-License-Identifier: Apache-2.0
/** Static types of the graph IR: shapes and tensors. */
package io.kiln.ir.type;
