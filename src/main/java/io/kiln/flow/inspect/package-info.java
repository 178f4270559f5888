// SPDX-License-Identifier: Apache-2.0
/** What {@code kiln:inspect} and {@code kiln:doctor} show: tables, graphs, tools. */
package io.kiln.flow.inspect;
