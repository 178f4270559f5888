// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The fixed-point features are near those that training computes in floating point: within 0.1 dB, and mostly far nearer. The largest errors
 * are in channels that are 80 dB below the loudest bin.
 */
class FeatureAccuracyTest {
    private static final int FRAMES = 20;

    /** {@code step} is the scale of the model's input, which is finer than those of real models. */
    @ParameterizedTest
    @CsvSource({
        "log mel as in librosa, 'spectrum: {fft: 512}\nmel: {channels: 40, lower: 20, upper: 7600, scale: slaney, norm: slaney}\nlog: {floor: 1e-10}', 0.001, 0.004",
        "decibels, 'spectrum: {fft: 512}\nmel: {channels: 64, triangles: mel, lower: 60, upper: 7800}\nlog: {base: 10, scale: 10, floor: 1e-10}', 0.004, 0.1",
        "log mel as in TensorFlow, 'spectrum: {fft: 512, of: magnitude}\nmel: {channels: 40, triangles: mel, lower: 20, upper: 4000}\nlog: {offset: 1e-6}', 0.001, 0.02",
        "MFCC, 'mel: {channels: 40, lower: 20, upper: 4000}\nlog: {offset: 1e-6}\ndct: {coefficients: 13}', 0.001, 0.01",
        "magnitudes, 'spectrum: {of: magnitude}', 0.001, 0.002",
    })
    void featuresAreNearThoseOfFloatingPoint(String name, String stages, double step, double bound) {
        String yaml = "schema: 1\nsampleRate: 16000\nframes: {window: 480, hop: 320}\n" + stages;
        AudioPipeline pipeline = Preprocessing.parse(name, Bytes.ofText(yaml)).pipeline();
        List<Integer> shape = List.of(FRAMES, pipeline.features());
        TensorInfo input = new TensorInfo("features", "features", DType.INT16, shape, (float) step, 0);
        PreprocessPlan plan = PreprocessPlanner.plan(pipeline, input);
        FloatFeatures reference = new FloatFeatures(pipeline);
        double worst = 0;
        for (int seed = 0; seed < 4; seed++) {
            short[] audio = AudioSamples.voice(plan.samples(), 16000, seed);
            ByteBuffer rows = new FeatureInterpreter(plan).input(audio).buffer();
            for (int frame = 0; frame < FRAMES; frame++) {
                double[] wanted = reference.row(audio, 320 * frame);
                for (double feature : wanted) {
                    double limited = Math.max(-32768 * step, Math.min(32767 * step, feature));
                    worst = Math.max(worst, Math.abs(rows.getShort() * (double) input.scale() - limited));
                }
            }
        }
        assertThat(worst).as(name).isLessThan(bound);
    }
}
