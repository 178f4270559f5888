// SPDX-License-Identifier: Apache-2.0
/** Across operators: the order in which they run, and which values are alive when. */
package io.kiln.stream;
