// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import java.util.Arrays;
import java.util.Optional;

/** The request or the reply that a packet carries. */
public enum RpcCode {
    NONE(0),
    /** Ends the server; it answers nothing. */
    SHUTDOWN(1),
    /** Begins a session; says the protocol's version. */
    INIT_SERVER(2),
    CALL_FUNC(3),
    /** The reply with values. */
    RETURN(4),
    /** The reply to a failed request, with a text. */
    EXCEPTION(5),
    /** Reads a tensor. */
    COPY_FROM_REMOTE(6),
    /** Writes a tensor. */
    COPY_TO_REMOTE(7),
    /** The reply with the bytes of a tensor. */
    COPY_ACK(8),
    /** Looks a global function up. */
    GET_GLOBAL_FUNC(9),
    FREE_HANDLE(10),
    DEV_SET_DEVICE(11),
    DEV_GET_ATTR(12),
    DEV_ALLOC_DATA(13),
    DEV_FREE_DATA(14),
    /** Waits for a device. */
    DEV_STREAM_SYNC(15),
    /** Copies between tensors of the board. */
    COPY_AMONG_REMOTE(16),
    /** Allocates memory for a tensor. */
    DEV_ALLOC_DATA_WITH_SCOPE(17),
    DEV_CREATE_STREAM(18),
    DEV_FREE_STREAM(19),
    DEV_SET_STREAM(20),
    DEV_GET_CURRENT_STREAM(21);

    private final int code;

    RpcCode(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** The code of a number. */
    public static Optional<RpcCode> of(int code) {
        return Arrays.stream(values()).filter(each -> each.code == code).findFirst();
    }
}
