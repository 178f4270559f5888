// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.ir.Parameter;
import java.nio.file.Path;
import java.util.List;

/**
 * Samples that are not tensors yet, such as pictures and recordings. What reads them belongs to the programs around the compiler, because it
 * knows descriptions and signal processing.
 */
@FunctionalInterface
public interface OtherSamples {
    /** The file in a folder which says that, and how, its pictures and recordings are samples. */
    String FORMS = "samples.yaml";

    /** There are none. */
    OtherSamples NONE = (folder, inputs) -> List.of();

    /**
     * Reads the samples of a folder.
     *
     * @param folder without {@code input_<k>.bin}, or one that says that it has other samples
     * @param inputs the model's inputs
     * @return empty if the folder has none
     * @throws io.kiln.base.KilnException if they cannot be used
     */
    List<Sample> read(Path folder, List<Parameter> inputs);
}
