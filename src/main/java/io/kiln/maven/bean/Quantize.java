// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import java.io.File;
import java.util.List;

/** {@code <quantize>}: how float models are quantized. Unset elements default to {@code kiln.quantize} and {@code kiln.quantize.*}. */
public final class Quantize {
    /** {@code none}, {@code int8}, {@code int16x8} or {@code auto}. */
    private String mode;

    /** A folder of {@code input_<k>.bin}, or a file {@code .npy} or {@code .npz}. */
    private File samples;

    /** Lines {@code sample,label}. */
    private File labels;

    /** {@code minmax}, {@code percentile}, {@code kl} or {@code mse}. */
    private String method;

    /** {@code auto}, {@code always} or {@code never}. */
    private String equalize;

    /** Names of layers that stay float. */
    private List<String> keepFloat;

    /** {@code int8} or {@code float}. */
    private String io;

    /** Largest loss of accuracy in percentage points. */
    private Double maxAccuracyLoss;

    /** Smallest signal-to-quantization-noise ratio of the outputs in dB. */
    private Double minSqnr;

    /** Set by Maven from {@code <mode>}. */
    public void setMode(String mode) {
        this.mode = mode;
    }

    /** Set by Maven from {@code <samples>}. */
    public void setSamples(File samples) {
        this.samples = samples;
    }

    /** Set by Maven from {@code <labels>}. */
    public void setLabels(File labels) {
        this.labels = labels;
    }

    /** Set by Maven from {@code <method>}. */
    public void setMethod(String method) {
        this.method = method;
    }

    /** Set by Maven from {@code <equalize>}. */
    public void setEqualize(String equalize) {
        this.equalize = equalize;
    }

    /** Set by Maven from {@code <keepFloat>}. */
    public void setKeepFloat(List<String> keepFloat) {
        this.keepFloat = keepFloat;
    }

    /** Set by Maven from {@code <io>}. */
    public void setIo(String io) {
        this.io = io;
    }

    /** Set by Maven from {@code <maxAccuracyLoss>}. */
    public void setMaxAccuracyLoss(Double maxAccuracyLoss) {
        this.maxAccuracyLoss = maxAccuracyLoss;
    }

    /** Set by Maven from {@code <minSqnr>}. */
    public void setMinSqnr(Double minSqnr) {
        this.minSqnr = minSqnr;
    }

    public String mode() {
        return mode;
    }

    public File samples() {
        return samples;
    }

    public File labels() {
        return labels;
    }

    public String method() {
        return method;
    }

    public String equalize() {
        return equalize;
    }

    public List<String> keepFloat() {
        return keepFloat;
    }

    public String io() {
        return io;
    }

    public Double maxAccuracyLoss() {
        return maxAccuracyLoss;
    }

    public Double minSqnr() {
        return minSqnr;
    }
}
