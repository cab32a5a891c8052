/* nvidia-smi --query-gpu= and --query-compute-apps=: chosen fields as CSV. */
#include "smi.h"

#include <stdio.h>
#include <string.h>

#define MOST_COLUMNS 128

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        list += strspn(list, " ");
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0)
            return true;
    }
    return false;
}

static void print_cell(const struct field *field, const struct device *device, bool units)
{
    char text[TEXT_SIZE] = "";
    nvmlReturn_t result = field->read(device, text);
    if (result != NVML_SUCCESS)
        printf("[%s]", smi_or_error(result, text));
    else if (units && field->unit)
        printf("%s %s", text, field->unit);
    else
        printf("%s", text);
}

/* The chosen columns; how many, or -1 after saying which name is none. */
static int parse_columns(const char *names, const struct field **columns)
{
    int count = 0;
    while (*names) {
        names += strspn(names, " ");
        size_t length = strcspn(names, ",");
        const struct field *field = smi_field(names, length);
        if (!field || count == MOST_COLUMNS) {
            printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)length, names);
            return -1;
        }
        columns[count++] = field;
        names += length + (names[length] == ',');
    }
    return count;
}

int smi_query_gpus(const struct devices *devices, const char *names, const char *format)
{
    const struct field *columns[MOST_COLUMNS];
    bool units = !has_word(format, "nounits");
    int count = parse_columns(names, columns);
    if (count < 0)
        return 2;
    if (!has_word(format, "csv")) {
        printf("\"--format=\" switch needs to be set to csv. Please run 'nvidia-smi -h' for help.\n\n");
        return 2;
    }
    for (int k = 0; !has_word(format, "noheader") && k < count; k++) {
        const char *unit = units ? columns[k]->unit : NULL;
        printf("%s%s%s%s%s", columns[k]->name, unit ? " [" : "", unit ? unit : "", unit ? "]" : "",
               k == count - 1 ? "\n" : ", ");
    }
    for (unsigned i = 0; i < devices->count; i++)
        for (int k = 0; k < count; k++) {
            print_cell(columns[k], &devices->each[i], units);
            printf(k == count - 1 ? "\n" : ", ");
        }
    return 0;
}

/* ---- processes ---- */

static const char *const process_fields[] = { "gpu_name", "gpu_uuid", "gpu_bus_id", "pid", "process_name", "used_memory" };

static int find_process_field(const char *name, size_t length)
{
    for (int i = 0; i < 6; i++)
        if (strlen(process_fields[i]) == length && strncmp(process_fields[i], name, length) == 0)
            return i;
    if (length == 4 && strncmp(name, "name", 4) == 0)
        return 4;
    return length == 15 && strncmp(name, "used_gpu_memory", 15) == 0 ? 5 : -1;
}

static void print_process_cell(int column, const struct device *device, const nvmlProcessInfo_t *process, bool units)
{
    char text[TEXT_SIZE] = "[Not Found]";
    switch (column) {
    case 0:
    case 1:
    case 2: /* of the GPU: names as --query-gpu= has them */
        print_cell(smi_field(process_fields[column], strlen(process_fields[column])), device, units);
        break;
    case 3:
        printf("%u", process->pid);
        break;
    case 4:
        (void)nvml.nvmlSystemGetProcessName(process->pid, text, sizeof(text));
        printf("%s", text);
        break;
    default:
        printf("%llu%s", process->usedGpuMemory / MIB, units ? " MiB" : "");
    }
}

int smi_query_processes(const struct devices *devices, const char *names, const char *format)
{
    int columns[MOST_COLUMNS], count = 0;
    bool units = !has_word(format, "nounits");
    while (*names && count < MOST_COLUMNS) {
        names += strspn(names, " ");
        size_t length = strcspn(names, ",");
        columns[count] = find_process_field(names, length);
        if (columns[count++] < 0) {
            printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)length, names);
            return 2;
        }
        names += length + (names[length] == ',');
    }
    for (int k = 0; !has_word(format, "noheader") && k < count; k++)
        printf("%s%s%s", process_fields[columns[k]], units && columns[k] == 5 ? " [MiB]" : "",
               k == count - 1 ? "\n" : ", ");
    for (unsigned i = 0; i < devices->count; i++) {
        nvmlProcessInfo_t processes[512];
        unsigned running = sizeof(processes) / sizeof(*processes);
        if (nvml.nvmlDeviceGetComputeRunningProcesses_v3(devices->each[i].handle, &running, processes) != NVML_SUCCESS)
            continue;
        for (unsigned p = 0; p < running; p++)
            for (int k = 0; k < count; k++) {
                print_process_cell(columns[k], &devices->each[i], &processes[p], units);
                printf(k == count - 1 ? "\n" : ", ");
            }
    }
    return 0;
}
