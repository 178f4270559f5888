// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import java.util.Optional;

/** An output of a function: a binding (or parameter) under the model's name for it. */
public record Result(int id, String name, Optional<Quantization> quantization) {}
