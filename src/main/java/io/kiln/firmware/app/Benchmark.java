// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.base.DType;
import io.kiln.base.ParameterValue;

/** The benchmarks of MLPerf Tiny. A runner sends elements of a type, which stand for {@code scale * (element - zeroPoint)}. */
public enum Benchmark {
    /** Keyword spotting: 49 frames of 10 features, quantized as the reference model has them. */
    KWS01(DType.INT8, 490, 12, 0.5847029f, 83),

    /** Visual wake words: a picture of 96 by 96 pixels. */
    VWW01(DType.UINT8, 96 * 96 * 3, 2, 1 / 255f, 0),

    /** Image classification: a picture of 32 by 32 pixels. */
    IC01(DType.UINT8, 32 * 32 * 3, 10, 1f, 0),

    /** Image classification, the larger model. */
    IC02(DType.UINT8, 32 * 32 * 3, 10, 1f, 0),

    /** Anomaly detection: 5 slices of 128 mel bins. */
    AD01(DType.FLOAT32, 640, 640, 1f, 0),

    /** Streaming wake word: sound, of which 30 rows of 40 features are the model's input. */
    SWW01(DType.INT16, 30 * 40, 3, 1f, 0),

    /** No benchmark of MLPerf Tiny: the bytes of the model's input as they are. */
    CUSTOM(DType.UINT8, 0, 0, 0f, 0);

    private final DType type;
    private final int inputs;
    private final int outputs;
    private final float scale;
    private final int zeroPoint;

    Benchmark(DType type, int inputs, int outputs, float scale, int zeroPoint) {
        this.type = type;
        this.inputs = inputs;
        this.outputs = outputs;
        this.scale = scale;
        this.zeroPoint = zeroPoint;
    }

    /** What an image answers to {@code profile}, such as {@code kws01}. */
    public String id() {
        return ParameterValue.text(this);
    }

    /** Whether the result is how anomalous an input is, in place of the probabilities of classes. */
    public boolean findsAnomalies() {
        return this == AD01;
    }

    /** Whether the image hears sound, in place of inputs that a runner sends one by one. */
    public boolean listens() {
        return this == SWW01;
    }

    /** The type of what a runner sends. */
    DType type() {
        return type;
    }

    /** Elements of an input. */
    int inputs() {
        return inputs;
    }

    /** Elements of the model's output. */
    int outputs() {
        return outputs;
    }

    /** Whether a model's input and output have as many elements as this benchmark's. */
    boolean fits(long modelInputs, long modelOutputs) {
        return this == CUSTOM || (modelInputs == inputs && modelOutputs == outputs);
    }

    /** What a sent integer stands for. */
    float real(int element) {
        return scale * (element - zeroPoint);
    }
}
