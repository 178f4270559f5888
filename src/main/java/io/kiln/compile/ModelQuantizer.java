// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.quantize.QuantizeRequest;
import io.kiln.quantize.Quantized;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.sample.Sample;
import io.kiln.quantize.sample.SampleReader;
import java.nio.file.Path;
import java.util.List;

/** Quantizes imported models with samples from files. */
public final class ModelQuantizer {
    private ModelQuantizer() {}

    /**
     * Quantizes a model.
     *
     * @param file the model's file, whose name the origins of operators keep
     * @param imported the float model
     * @throws io.kiln.base.KilnException with what is wrong with the samples or the model, or if the result breaks a limit
     */
    public static Quantized quantize(Path file, Function imported, QuantizeRequest request) {
        List<Sample> samples = SampleReader.read(request.samples(), request.labels(), imported.params());
        TfliteMaker maker = new TfliteMaker(String.valueOf(file.getFileName()));
        return new Quantizer(maker, request.progress()).quantize(imported, samples, request.options());
    }
}
