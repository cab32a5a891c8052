/* nvidia-smi: options, the library, the list of devices; exit codes as NVIDIA documents them. */
#define _POSIX_C_SOURCE 200809L

#include "smi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_OK = 0, EXIT_BAD_USAGE = 2, EXIT_NO_DEVICE = 6, EXIT_NO_LIBRARY = 12, EXIT_OTHER = 255 };

struct smi_nvml nvml;

static const struct {
    const char *name;
    void *place;
} symbols[] = {
#define SMI_SYMBOL(name) { #name, &nvml.name },
    SMI_FUNCTIONS(SMI_SYMBOL)
#undef SMI_SYMBOL
};

/* NVML from the loader's path, else the one that lies beside this program in its driver root. */
static void *open_library(void)
{
    char path[4096];
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    ssize_t length = library ? -1 : readlink("/proc/self/exe", path, sizeof(path) - 64);
    if (library || length <= 0)
        return library;
    path[length] = '\0';
    char *slash = strstr(path, "/bin/nvidia-smi");
    if (!slash)
        return NULL;
    strcpy(slash, "/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
    return dlopen(path, RTLD_NOW);
}

static bool load_nvml(void)
{
    void *library = open_library();
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        void *symbol = library ? dlsym(library, symbols[i].name) : NULL;
        if (!symbol)
            return false;
        memcpy(symbols[i].place, &symbol, sizeof(symbol));
    }
    return true;
}

const char *smi_or_error(nvmlReturn_t result, const char *text)
{
    switch (result) {
    case NVML_SUCCESS:
        return text;
    case NVML_ERROR_NOT_SUPPORTED:
        return "N/A";
    default:
        return nvml.nvmlErrorString(result);
    }
}

/* NVML's return codes are the exit codes, as far as an exit code goes. */
static int exit_code(nvmlReturn_t result)
{
    int code = (int)result;
    return code < EXIT_OTHER ? code : EXIT_OTHER;
}

static int report_start_error(nvmlReturn_t result)
{
    if (result == NVML_ERROR_DRIVER_NOT_LOADED)
        printf("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
               "latest NVIDIA driver is installed and running.\n\n");
    else if (result == NVML_ERROR_LIB_RM_VERSION_MISMATCH)
        printf("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: %.6s\n", DRIVER_VERSION);
    else
        printf("Failed to initialize NVML: %s\n", nvml.nvmlErrorString(result));
    return exit_code(result);
}

/* All devices in order. Like NVIDIA's, one that does not answer ends the program with its error. */
static int find_devices(struct devices *devices)
{
    unsigned count;
    nvmlReturn_t result = nvml.nvmlDeviceGetCount_v2(&count);
    if (result != NVML_SUCCESS)
        return report_start_error(result);
    devices->count = 0;
    for (unsigned i = 0; i < count && i < MOST_DEVICES; i++) {
        nvmlDevice_t handle;
        result = nvml.nvmlDeviceGetHandleByIndex_v2(i, &handle);
        if (result != NVML_SUCCESS) {
            printf("Unable to determine the device handle for GPU%u: %s%s\n", i, nvml.nvmlErrorString(result),
                   result == NVML_ERROR_GPU_IS_LOST ? ".  Reboot the system to recover this GPU" : "");
            return exit_code(result);
        }
        devices->each[devices->count++] = (struct device){ i, handle };
    }
    return EXIT_OK;
}

static bool matches(const struct device *device, const char *wanted, size_t length)
{
    char index[16], uuid[TEXT_SIZE] = "";
    nvmlPciInfo_t pci = { .busId = "" };
    snprintf(index, sizeof(index), "%u", device->index);
    (void)nvml.nvmlDeviceGetUUID(device->handle, uuid, sizeof(uuid));
    (void)nvml.nvmlDeviceGetPciInfo_v3(device->handle, &pci);
    const char *names[] = { index, uuid, pci.busId, pci.busIdLegacy };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == length && strncmp(names[i], wanted, length) == 0)
            return true;
    return false;
}

/* Keeps the devices that --id= names; an exit code. */
static int choose_devices(struct devices *devices, const char *ids)
{
    struct devices chosen = { 0 };
    while (*ids) {
        size_t length = strcspn(ids, ",");
        unsigned before = chosen.count;
        for (unsigned i = 0; i < devices->count; i++)
            if (matches(&devices->each[i], ids, length) && chosen.count < MOST_DEVICES)
                chosen.each[chosen.count++] = devices->each[i];
        if (chosen.count == before) {
            printf("No devices were found\n");
            return EXIT_NO_DEVICE;
        }
        ids += length + (ids[length] == ',');
    }
    *devices = chosen;
    return EXIT_OK;
}

struct options {
    bool list, report, version, help;
    const char *ids, *query_gpus, *query_processes, *format;
};

/* The value of `--name=value` or of `-n value`; NULL when the argument is another one. */
static const char *value_of(char **argument, const char *shorter, const char *longer, int *used)
{
    size_t length = strlen(longer);
    if (strncmp(argument[0], longer, length) == 0 && argument[0][length] == '=')
        return argument[0] + length + 1;
    if (shorter && strcmp(argument[0], shorter) == 0 && argument[1]) {
        *used = 2;
        return argument[1];
    }
    return NULL;
}

static bool is(const char *argument, const char *shorter, const char *longer)
{
    return strcmp(argument, shorter) == 0 || strcmp(argument, longer) == 0;
}

/* Reads one argument; how many words it took, 0 when it is unknown. */
static int parse_option(char **argument, struct options *options)
{
    const char *value;
    int used = 1;
    if (is(argument[0], "-L", "--list-gpus"))
        options->list = true;
    else if (is(argument[0], "-q", "--query"))
        options->report = true;
    else if (is(argument[0], "-h", "--help"))
        options->help = true;
    else if (is(argument[0], "--version", "-version"))
        options->version = true;
    else if ((value = value_of(argument, "-i", "--id", &used)))
        options->ids = value;
    else if ((value = value_of(argument, NULL, "--query-gpu", &used)))
        options->query_gpus = value;
    else if ((value = value_of(argument, NULL, "--query-compute-apps", &used)))
        options->query_processes = value;
    else if ((value = value_of(argument, NULL, "--format", &used)))
        options->format = value;
    else
        return 0;
    return used;
}

static int print_help(void)
{
    printf("NVIDIA System Management Interface -- v%s\n\n"
           "nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...\n\n"
           "    -h,   --help                Print usage information and exit.\n"
           "    --version                   Print version information and exit.\n"
           "    -L,   --list-gpus           Display a list of GPUs connected to the system.\n"
           "    -i,   --id=                 Target a specific GPU.\n"
           "    -q,   --query               Display GPU info.\n"
           "    --query-gpu=                Information about GPU, as comma separated fields.\n"
           "    --query-compute-apps=       List of currently active compute processes.\n"
           "    --format=                   csv, and optionally noheader and nounits.\n\n"
           "This one asks Lockgate's simulated driver.\n",
           DRIVER_VERSION);
    return EXIT_OK;
}

static int print_version(void)
{
    char driver[TEXT_SIZE], library[TEXT_SIZE];
    int cuda = 0;
    printf("NVIDIA-SMI version  : %s\n", DRIVER_VERSION);
    printf("NVML version        : %s\n",
           smi_or_error(nvml.nvmlSystemGetNVMLVersion(library, sizeof(library)), library));
    printf("DRIVER version      : %s\n", smi_or_error(nvml.nvmlSystemGetDriverVersion(driver, sizeof(driver)), driver));
    (void)nvml.nvmlSystemGetCudaDriverVersion_v2(&cuda);
    printf("CUDA Version        : %d.%d\n", cuda / 1000, cuda % 1000 / 10);
    return EXIT_OK;
}

static int show(const struct options *options)
{
    struct devices devices;
    if (options->version)
        return print_version();
    int code = find_devices(&devices);
    if (code == EXIT_OK && options->ids)
        code = choose_devices(&devices, options->ids);
    if (code != EXIT_OK)
        return code;
    if (devices.count == 0) {
        printf(options->list ? "No devices found.\n" : "No devices were found\n");
        return EXIT_NO_DEVICE;
    }
    if (options->list)
        return smi_list(&devices);
    if (options->query_gpus)
        return smi_query_gpus(&devices, options->query_gpus, options->format);
    if (options->query_processes)
        return smi_query_processes(&devices, options->query_processes, options->format);
    return options->report ? smi_report(&devices) : smi_table(&devices);
}

int main(int argc, char **argv)
{
    struct options options = { 0 };
    for (int i = 1; i < argc;) {
        int used = parse_option(argv + i, &options);
        if (used == 0) {
            printf("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n");
            return EXIT_BAD_USAGE;
        }
        i += used;
    }
    if (options.help)
        return print_help();
    if ((options.query_gpus || options.query_processes) && !options.format) {
        printf("\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.\n\n");
        return EXIT_BAD_USAGE;
    }
    if (!load_nvml()) {
        printf("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
               "Display Driver is properly installed and present in your system.\n"
               "Please also try adding directory that contains libnvidia-ml.so to your system PATH.\n");
        return EXIT_NO_LIBRARY;
    }
    nvmlReturn_t result = nvml.nvmlInit_v2();
    if (result != NVML_SUCCESS)
        return report_start_error(result);
    int code = show(&options);
    (void)nvml.nvmlShutdown();
    return code;
}
