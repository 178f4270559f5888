// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;

/**
 * A function on its way through the pipeline.
 *
 * @param index place in the pipeline, whether or not passes before it were left out; 0 before the first pass
 * @param pass the pass that made it; {@code import} before the first
 * @param function the function
 */
public record Stage(int index, String pass, Function function) {}
