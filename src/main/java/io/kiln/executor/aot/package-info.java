// SPDX-License-Identifier: Apache-2.0
/** The ahead-of-time executor: the function that drives the operators, the entry point, and the C interface header. */
package io.kiln.executor.aot;
