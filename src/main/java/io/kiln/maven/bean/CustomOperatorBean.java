// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import io.kiln.compile.ReadOptions.UserFunction;

/** One {@code <customOperator>} of {@code <customOperators>}: the C function that computes an operator. */
public final class CustomOperatorBean {
    private String code = "";
    private String function = "";
    private String header = "";
    private String shape = "";
    private boolean quantization;
    private boolean options;
    private String reference = "";

    /** Set by Maven from {@code <code>}: the operator's name in the model. */
    public void setCode(String code) {
        this.code = code;
    }

    /** Set by Maven from {@code <function>}: name of the C function. */
    public void setFunction(String function) {
        this.function = function;
    }

    /** Set by Maven from {@code <header>}: file below src/main/c that declares it. */
    public void setHeader(String header) {
        this.header = header;
    }

    /** Set by Maven from {@code <shape>}: {@code input0}, or dimensions; if not set, the shape in the model. */
    public void setShape(String shape) {
        this.shape = shape;
    }

    /** Set by Maven from {@code <quantization>}: whether the function gets scales and zero points of its tensors. */
    public void setQuantization(boolean quantization) {
        this.quantization = quantization;
    }

    /** Set by Maven from {@code <options>}: whether the function gets the bytes of the operator's options. */
    public void setOptions(boolean options) {
        this.options = options;
    }

    /** Set by Maven from {@code <reference>}: C file that computes the same for {@code kiln:compare-layers}. */
    public void setReference(String reference) {
        this.reference = reference;
    }

    /** The function in the flow's form. */
    public UserFunction function() {
        return new UserFunction(
                code.strip(),
                function.strip(),
                header.strip(),
                shape.strip(),
                quantization,
                options,
                reference.strip());
    }
}
