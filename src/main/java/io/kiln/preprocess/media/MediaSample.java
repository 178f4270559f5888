// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.base.Bytes;
import java.util.Optional;

/**
 * A picture or recording as the model's only input.
 *
 * @param name of the file, with {@code /} between it and its folder if it lies in one
 * @param input elements of the input, row-major, little-endian
 * @param label number of the folder that it lies in, in the order of the names; empty if it lies in none
 */
public record MediaSample(String name, Bytes input, Optional<Integer> label) {}
