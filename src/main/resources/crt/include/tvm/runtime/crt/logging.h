/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages for people. What lies above TVM_CRT_LOG_LEVEL (crt_config.h) costs nothing.
 */
#ifndef TVM_RUNTIME_CRT_LOGGING_H_
#define TVM_RUNTIME_CRT_LOGGING_H_

#include <crt_config.h>
#include <tvm/runtime/crt/platform.h>

#define TVM_CRT_LOG_LEVEL_ERROR 0
#define TVM_CRT_LOG_LEVEL_WARN 1
#define TVM_CRT_LOG_LEVEL_INFO 2
#define TVM_CRT_LOG_LEVEL_DEBUG 3

/* The level if crt_config.h states none. No macro: microTVM's crt_config.h includes this header before it defines one. */
#ifndef TVM_CRT_LOG_LEVEL
enum { TVM_CRT_LOG_LEVEL = TVM_CRT_LOG_LEVEL_ERROR };
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a message, format and arguments as printf's, wherever the platform shows messages.
 * [default: a weak definition that drops it] */
void TVMLogf(const char* fmt, ...) __attribute__((format(printf, 1, 2)));

#ifndef LOG
#define LOG(level, ...)                 \
  do {                                  \
    if (TVM_CRT_LOG_LEVEL >= (level)) { \
      TVMLogf(__VA_ARGS__);             \
    }                                   \
  } while (0)
#endif

#define LOG_ERROR(...) LOG(TVM_CRT_LOG_LEVEL_ERROR, __VA_ARGS__)
#define LOG_WARN(...) LOG(TVM_CRT_LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_INFO(...) LOG(TVM_CRT_LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_DEBUG(...) LOG(TVM_CRT_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Stops the platform when a condition does not hold. */
#ifndef CHECK
#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      LOG_ERROR("%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      TVMPlatformAbort(kTvmErrorPlatformCheckFailure);                       \
    }                                                                        \
  } while (0)
#endif

/* The same for a comparison, with a message of one's own: format and arguments as printf's. */
#ifndef CHECK_BINARY_OP
#define CHECK_BINARY_OP(op, x, y, ...)                                                       \
  do {                                                                                       \
    if (!((x)op(y))) {                                                                       \
      LOG_ERROR("%s:%d: check failed: %s %s %s\n", __FILE__, __LINE__, #x, #op, #y);         \
      LOG_ERROR(__VA_ARGS__);                                                                \
      TVMPlatformAbort(kTvmErrorPlatformCheckFailure);                                       \
    }                                                                                        \
  } while (0)
#endif

#ifndef CHECK_EQ
#define CHECK_EQ(x, y, ...) CHECK_BINARY_OP(==, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_NE
#define CHECK_NE(x, y, ...) CHECK_BINARY_OP(!=, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_LT
#define CHECK_LT(x, y, ...) CHECK_BINARY_OP(<, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_LE
#define CHECK_LE(x, y, ...) CHECK_BINARY_OP(<=, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_GT
#define CHECK_GT(x, y, ...) CHECK_BINARY_OP(>, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_GE
#define CHECK_GE(x, y, ...) CHECK_BINARY_OP(>=, x, y, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_LOGGING_H_ */
