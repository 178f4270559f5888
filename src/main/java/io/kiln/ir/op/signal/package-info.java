// SPDX-License-Identifier: Apache-2.0
/** Signal operators and filter banks. */
package io.kiln.ir.op.signal;
