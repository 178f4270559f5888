// SPDX-License-Identifier: Apache-2.0
/** The graph IR as Relay text. */
package io.kiln.ir.text;
