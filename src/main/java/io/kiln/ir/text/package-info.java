// SPDX-License-Identifier: Apache-2.0
/** Printing and parsing the graph IR as Relay text. */
package io.kiln.ir.text;
