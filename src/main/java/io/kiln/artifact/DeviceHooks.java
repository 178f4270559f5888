// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The C names of a device whose driver is called around a run of a model (TVM's C device API, tvm-rfcs 0031): each hook is {@code int32_t
 * hook(void* context)}, and returns 0, or anything else for an error, which ends the run.
 *
 * @param device its name, a C name in lower case such as {@code ethos_u}: a member of {@code struct tvmgen_<model>_devices}
 */
public record DeviceHooks(String device) {
    private static final Pattern WORD = Pattern.compile("_*([A-Za-z0-9]+)");

    /** The device of a code generator such as {@code ethos-u}. */
    public static DeviceHooks of(String codegen) {
        return new DeviceHooks(codegen.replaceAll("[^A-Za-z0-9]", "_").toLowerCase(Locale.ROOT));
    }

    /** {@code TVMDevice<Device>Activate}: before the first operator of a run. */
    public String activate() {
        return hook("Activate");
    }

    /** {@code TVMDevice<Device>Open}: before each function of the device. */
    public String open() {
        return hook("Open");
    }

    /** {@code TVMDevice<Device>Close}: after each function of the device. */
    public String close() {
        return hook("Close");
    }

    /** {@code TVMDevice<Device>Deactivate}: after the last operator of a run. */
    public String deactivate() {
        return hook("Deactivate");
    }

    /** The parameter of generated functions, {@code device_context_<device>}. */
    public String context() {
        return "device_context_" + device;
    }

    /** The variable of Kiln's own applications that holds the context, {@code kiln_device_<device>}. */
    public String instance() {
        return "kiln_device_" + device;
    }

    /** The declaration of one of the hooks, without a semicolon. */
    public static String declaration(String hook) {
        return "int32_t " + hook + "(void* context)";
    }

    private String hook(String what) {
        StringBuilder name = new StringBuilder("TVMDevice");
        Matcher words = WORD.matcher(device);
        while (words.find()) {
            String word = words.group(1);
            name.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
        }
        return name.append(what).toString();
    }
}
