/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the RPC protocol, version 0.8.0. A packet is its length (u64), a code (i32) and a body; numbers are little endian.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_REFERENCE_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_REFERENCE_H_

#define TVM_RPC_PROTOCOL_VERSION "0.8.0"

/* Bytes before the body of a packet: length and code. */
#define TVM_RPC_LENGTH_BYTES 8u
#define TVM_RPC_CODE_BYTES 4u

/* Codes of packets. From kTVMRPCSyscallStart on, the body is one packed sequence. */
typedef enum {
  kTVMRPCNone = 0,
  kTVMRPCShutdown = 1,
  kTVMRPCInitServer = 2,
  kTVMRPCCallFunc = 3,
  kTVMRPCReturn = 4,
  kTVMRPCException = 5,
  kTVMRPCCopyFromRemote = 6,
  kTVMRPCCopyToRemote = 7,
  kTVMRPCCopyAck = 8,
  kTVMRPCSyscallStart = 9,
  kTVMRPCGetGlobalFunc = 9,
  kTVMRPCFreeHandle = 10,
  kTVMRPCDevSetDevice = 11,
  kTVMRPCDevGetAttr = 12,
  kTVMRPCDevAllocData = 13,
  kTVMRPCDevFreeData = 14,
  kTVMRPCDevStreamSync = 15,
  kTVMRPCCopyAmongRemote = 16,
  kTVMRPCDevAllocDataWithScope = 17,
  kTVMRPCDevCreateStream = 18,
  kTVMRPCDevFreeStream = 19,
  kTVMRPCDevSetStream = 20,
  kTVMRPCDevGetCurrentStream = 21
} TVMRPCCode;

/* Why a packet cannot be served. The first thirteen are microTVM's. */
typedef enum {
  kTVMRPCSuccess = 0,
  kTVMRPCInvalidTypeCodeObject = 1,
  kTVMRPCInvalidTypeCodeNDArray = 2,
  kTVMRPCInvalidDLTensorFieldStride = 3,
  kTVMRPCInvalidDLTensorFieldByteOffset = 4,
  kTVMRPCUnknownTypeCode = 5,
  kTVMRPCUnknownRPCCode = 6,
  kTVMRPCRPCCodeNotSupported = 7,
  kTVMRPCUnknownRPCSyscall = 8,
  kTVMRPCCheckError = 9,
  kTVMRPCReadError = 10,
  kTVMRPCWriteError = 11,
  kTVMRPCAllocError = 12,
  kTVMRPCAddressError = 13 /* an address outside the memory that the host was given */
} TVMRPCStatus;

/* Type codes of a packed sequence that are not in TVMArgTypeCode. */
#define TVM_RPC_ARG_UINT 1

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_REFERENCE_H_ */
