// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A request to quantize a model.
 *
 * @param options how
 * @param samples folder or file of samples, see {@link io.kiln.quantize.sample.SampleReader}
 * @param labels file of their labels; empty for {@code labels.csv} in the folder, if that exists
 * @param others reads samples that are not tensors
 * @param progress told about runs of the float model
 */
public record QuantizeRequest(
        QuantizeOptions options, Path samples, Optional<Path> labels, OtherSamples others, Runs.Progress progress) {}
