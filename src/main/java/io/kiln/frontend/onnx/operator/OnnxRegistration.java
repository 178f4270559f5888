// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

/**
 * The importer of one operator: a line in the table of its family.
 *
 * @param domain domain of the operator; empty for ONNX's own
 * @param name its name
 * @param since first version of the domain that the importer supports; it handles later changes by {@link NodeContext#version}
 * @param until last version of the domain whose changes it knows
 * @param importer converts nodes of it
 */
public record OnnxRegistration(String domain, String name, int since, int until, OnnxImporter importer) {
    /**
     * Newest version of ONNX's operators whose changes are known. Those of 22 to 28 to operators that exist before are more element types,
     * and attributes that importers read.
     */
    public static final int NEWEST = 28;

    /** Domain of ONNX Runtime's own operators. */
    public static final String MICROSOFT = "com.microsoft";

    /** Newest known version of {@link #LEARNING}. */
    private static final int NEWEST_LEARNING = 5;

    /** Domain of ONNX's operators for machine learning other than neural networks. */
    public static final String LEARNING = "ai.onnx.ml";

    /** An operator of ONNX, right in all of its versions. */
    public static OnnxRegistration onnx(String name, OnnxImporter importer) {
        return onnx(name, 1, importer);
    }

    /** An operator of ONNX. */
    public static OnnxRegistration onnx(String name, int since, OnnxImporter importer) {
        return new OnnxRegistration("", name, since, NEWEST, importer);
    }

    /** An operator of ONNX Runtime. */
    public static OnnxRegistration microsoft(String name, OnnxImporter importer) {
        return new OnnxRegistration(MICROSOFT, name, 1, Integer.MAX_VALUE, importer);
    }

    /** An operator of ONNX for machine learning other than neural networks. */
    public static OnnxRegistration learning(String name, OnnxImporter importer) {
        return new OnnxRegistration(LEARNING, name, 1, NEWEST_LEARNING, importer);
    }

    /** Domain and name, as in messages and in the map of all operators. */
    public String key() {
        return key(domain, name);
    }

    /** The key of an operator. */
    public static String key(String domain, String name) {
        return domain.isEmpty() ? name : domain + "." + name;
    }

    /** Converts one node to bindings of the IR. */
    public interface OnnxImporter {
        /**
         * Emits bindings and sets the node's outputs, see {@link NodeContext#finish}.
         *
         * @throws io.kiln.base.KilnException with all errors and unsupported features of the node
         */
        void emit(NodeContext node);
    }
}
