// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.type.TensorType;
import java.util.Optional;

/** An input of a function. Its id shares one number space with the bindings. */
public record Parameter(int id, String name, TensorType type, Optional<Quantization> quantization) {}
