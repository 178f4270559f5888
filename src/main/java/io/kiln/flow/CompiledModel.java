// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.artifact.ModelLibrary;
import io.kiln.ir.Function;

/**
 * A compiled model.
 *
 * @param library C sources and what is known of them
 * @param imported the model as it was imported, before any pass: what the reference interpreter runs
 */
public record CompiledModel(ModelLibrary library, Function imported) {}
