// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;

/**
 * A function at one stage of the pipeline.
 *
 * @param index position in the pipeline, skipped passes included; 0 before the first pass
 * @param pass the pass that made it; {@code import} before the first
 * @param function the function
 */
public record Stage(int index, String pass, Function function) {}
