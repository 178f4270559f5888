// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.Optional;

/** An error that the server reports for a request; the server itself goes on, except after a request it could not read. */
public final class MethodFailure extends KilnException {
    private static final long serialVersionUID = 1L;

    private static final String IO_TIMEOUT = "IoTimeoutError";
    private static final int MOST_TRACEBACK = 4000;

    private final int code;
    private final String reported;

    MethodFailure(int code, String reported, Optional<String> traceback) {
        super(new Problem(
                explained(code, reported),
                "",
                "",
                traceback.map(MethodFailure::end).orElse("")));
        this.code = code;
        this.reported = reported;
    }

    /** JSON-RPC's code: -32000 for a failed method, -32600 to -32603 for a request that the server refuses. */
    public int code() {
        return code;
    }

    /** Whether no byte came, or not every byte went out, in time. */
    public boolean isIoTimeout() {
        return IO_TIMEOUT.equals(reported);
    }

    private static String explained(int code, String reported) {
        String cause = switch (reported) {
            case IO_TIMEOUT -> "the board sent or took no data in time";
            case "TransportClosedError" -> "the connection to the board is closed";
            case "UnsupportedTVMVersionError" -> "the server does not support this version of TVM";
            default -> "the server reports an error";
        };
        return cause + ": " + reported + " (" + code + ")";
    }

    /** The end of a traceback tells the failure itself. */
    private static String end(String traceback) {
        String text = traceback.strip();
        return "\n" + (text.length() <= MOST_TRACEBACK ? text : "..." + text.substring(text.length() - MOST_TRACEBACK));
    }
}
