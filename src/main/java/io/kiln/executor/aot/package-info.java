// SPDX-License-Identifier: Apache-2.0
/** The ahead-of-time executor: the function that calls the operators in order, the entry point, and the header of the typed interface. */
package io.kiln.executor.aot;
