// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;

/**
 * How models become C.
 *
 * @param optimize what to optimize for
 * @param io who owns inputs and outputs
 * @param calls how programs call the models
 * @param pipeline changes to the compiler's passes
 * @param quantize how float models are quantized first
 * @param records tuning records that choose schedules
 */
public record CompilerSpec(
        Optimize optimize, Io io, CallSpec calls, PipelineSpec pipeline, QuantizeSpec quantize, RecordsSpec records) {}
