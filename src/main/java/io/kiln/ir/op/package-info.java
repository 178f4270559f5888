// SPDX-License-Identifier: Apache-2.0
/** The operators of the graph IR: one record each, with Relay's name and typed attributes. */
package io.kiln.ir.op;
