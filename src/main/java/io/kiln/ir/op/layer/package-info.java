// SPDX-License-Identifier: Apache-2.0
/** Convolutions, dense layers, pooling and what belongs to them. */
package io.kiln.ir.op.layer;
