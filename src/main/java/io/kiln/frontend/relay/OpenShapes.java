// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.Failure;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.value.Findings;
import io.kiln.ir.text.RelaySyntax.Param;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Applies the user's shapes to the inputs, and refuses those that stay open; an open batch is 1. */
final class OpenShapes {
    private final InputShapes given;
    private final Findings findings;
    private final Set<String> used = new HashSet<>();

    OpenShapes(InputShapes given, Findings findings) {
        this.given = given;
        this.findings = findings;
    }

    /** Whether any shape replaces one of the text, so that types in the text may be wrong. */
    boolean areGiven() {
        return !given.isEmpty();
    }

    /**
     * The type of an input.
     *
     * @param name the input's name outside the text
     */
    TensorType type(Param param, String name) {
        TensorType own = param.type();
        String key = given.byName().containsKey(name) ? name : param.name();
        Shape shape = given.byName().get(key);
        if (shape == null) {
            if (param.open().stream().anyMatch(dim -> dim > 0)) {
                findings.add(
                        param.place(),
                        "the input %" + param.name() + " has dimensions that are known only at run time: "
                                + open(param),
                        "numbers",
                        "Set kiln.inputShapes=" + name + ":" + open(param) + " with a number for each ?");
            }
            return own;
        }
        used.add(key);
        TensorType type = new TensorType(shape, own.dtype());
        if (shape.rank() != own.shape().rank() || type.isLargerThan(TensorType.MAX_BYTES)) {
            findings.add(
                    param.place(),
                    "kiln.inputShapes gives the input %" + param.name() + " the shape " + shape.text(),
                    "rank " + own.shape().rank() + ": " + open(param) + ", and at most " + TensorType.MAX_BYTES
                            + " bytes",
                    "");
            return own;
        }
        return type;
    }

    /** Reports given shapes whose names are not inputs. */
    void refuseOthers(List<String> inputs) {
        given.byName().keySet().stream()
                .filter(name -> !used.contains(name))
                .forEach(name -> findings.add(Failure.MODEL.problem(
                        "kiln.inputShapes names `" + name + "`, which is not an input",
                        findings.file(),
                        "some of " + String.join(", ", inputs),
                        "")));
    }

    private static String open(Param param) {
        Shape shape = param.type().shape();
        return IntStream.range(0, shape.rank())
                .mapToObj(i -> param.open().contains(i) ? "?" : String.valueOf(shape.dim(i)))
                .collect(Collectors.joining(","));
    }
}
